// The model's types are in the library's signatures, so that whoever imports the library has them by their names.
@_exported public import LectureModel
