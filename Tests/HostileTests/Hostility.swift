/// Every case of the hostile origin, met by the built program.
enum Hostility {}
