"""Widgets of a page that nobody looks at, for steering."""

from types import SimpleNamespace


class Widget:
    """Of a page that nobody looks at."""

    def __init__(self, value=None):
        self.value, self.used = value, []

    def on_hold(self, callback):
        self.used.append(callback)

    on_click = on_trigger = on_hold

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Gui:
    """Widgets by name."""

    def __init__(self):
        self.widgets, self.keys = {}, {}

    def add_button(self, name):
        return self.widgets.setdefault(name.split("   ")[0], Widget())

    def add_checkbox(self, name, value):
        return self.widgets.setdefault(name.split("   ")[0], Widget(value))

    def add_slider(self, name, low, high, step, value):
        return self.widgets.setdefault(name, Widget(value))

    def add_folder(self, name, expand_by_default):
        return Widget()

    def add_command(self, name, hotkey):
        return self.keys.setdefault(hotkey, Widget())


class Page:
    """Of nobody."""

    def __init__(self):
        self.gui = Gui()
        self.server, self.folder = self, Widget()
        self.pace = SimpleNamespace(step_time=0.0)


def use(widget):
    for callback in widget.used:
        callback(None)
