/// The built program on its worst days.
enum Endurance {}
