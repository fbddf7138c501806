"""Networks: image encoders, recurrent core, action heads and the actor-critic they make up."""
