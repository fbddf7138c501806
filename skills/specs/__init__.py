"""Our skills, one file each, with their SkillSpec as SPEC; `skills.registry` finds them here."""
