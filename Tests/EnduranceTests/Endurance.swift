/// The built program under the worst conditions.
enum Endurance {}
