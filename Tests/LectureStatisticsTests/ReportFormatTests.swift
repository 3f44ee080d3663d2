import LectureModel
import LectureStatistics
import Testing

@Suite struct ReportFormatTests {
    @Test func `formats are named as on the command line`() {
        #expect(ReportFormat.allCases.map(\.rawValue) == ["kollus", "json", "xapi"])
    }
}
