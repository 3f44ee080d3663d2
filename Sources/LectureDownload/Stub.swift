package import LectureModel
package struct OriginGovernor {
  package enum Outcome { case success, refused, neutral }
  init(initialLimit: Int, maximumLimit: Int) {}
  func knows(_ o: Origin) -> Bool { true }
  mutating func restore(_ o: Origin, _ r: OriginRecord, now: Timestamp, boot: BootInstant) {}
  func mayStart(_ o: Origin, now: BootInstant) -> Bool { true }
  func holdLeft(_ o: Origin, now: BootInstant) -> Duration? { nil }
  func http2Failed(_ o: Origin, now: BootInstant) -> Bool { false }
  mutating func noteHTTP2Failure(_ o: Origin, now: BootInstant) {}
  mutating func started(_ o: Origin, now: BootInstant) {}
  mutating func ended(_ o: Origin, now: BootInstant, outcome: Outcome) {}
  mutating func hold(_ o: Origin, for: Duration, now: BootInstant) {}
  func limit(_ o: Origin) -> Int { 4 }
}
package struct RangeTrial {
  enum Decision { case wait, openOne, closeNewest }
  mutating func look(at: BootInstant, receivedBytes: UInt64, connections: Int, missingBytes: UInt64) -> Decision { .wait }
  mutating func stop() {}
}
package struct Timetable: Sendable {
  package struct Rate: Equatable { static let full = Rate(); static let off = Rate(); var bytesPerSecond: Int? { nil } }
  package init(_ s: String) throws(LectureError) {}
  package func rate(at: Timestamp) -> Rate { .full }
  package func nextChange(after: Timestamp) -> Timestamp? { nil }
}
package struct Descriptor {
  package static let mediaType = "application/vnd.lecturekit.descriptor+json"
  package init(json: [UInt8], sourceURL: String) throws(LectureError) { throw LectureError(.json) }
  package var refusal: LectureError.Code? { nil }
  package var mediaURLs: [String] { [] }
  package var facts: ContentFacts { ContentFacts() }
  package func wishes(expecting: ItemRecord) -> [ResourceWish] { [] }
}
package struct Explanation { package var what = "", why = "", next = "", remedy = "" }
package enum Explanations {
  package static func explanation(of: ItemState) -> Explanation { Explanation() }
  package static func explanation(of: StopReason) -> Explanation { Explanation() }
  package static func explanation(of: LectureError.Code) -> Explanation { Explanation() }
}
package enum DurationText { package static func format(_ d: Duration) -> String { "" } }
package enum ContentKeys {
  package static func identity(ofURL: String, digest: ([UInt8]) throws -> [UInt8]) throws -> (key: ContentKey, bytes: [UInt8], isGateway: Bool) {
    let bytes = try digest(Array(ofURL.utf8)); return (try ContentKey("k" + String(bytes[0]) + String(bytes[1])), bytes, false) }
}
extension ResponseVerdict { var mediaPlan: BodyPlan? { switch self { case .body(let p), .noRanges(let p): p; default: nil } } }
extension RetryTable {
  static func isFinal(transfer: Int) -> Bool { false }
  static func fallsBackToHTTP1(curl: Int) -> Bool { false }
  static func isNetworkTrouble(_ c: LectureError.Code) -> Bool { false }
}
