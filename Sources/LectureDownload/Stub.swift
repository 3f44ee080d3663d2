package import LectureModel
package struct Explanation { package var what = "", why = "", next = "", remedy = "" }
package enum Explanations {
  package static func explanation(of: ItemState) -> Explanation { Explanation() }
  package static func explanation(of: StopReason) -> Explanation { Explanation() }
  package static func explanation(of: LectureError.Code) -> Explanation { Explanation() }
}
