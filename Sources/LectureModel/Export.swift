// Points in time are in the public signatures of the model, so importing the model makes them available by name.
@_exported public import LectureFormats
