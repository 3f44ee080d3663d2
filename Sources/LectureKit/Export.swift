// The model's types are in the library's signatures, so importing the library makes them available by name.
@_exported public import LectureModel
