import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// Every choice of the list's form leads to a query that is read back, and to nothing else.
struct PageOrderTests {
    private static func query(_ fields: [(String, String)]) -> LecturesPage.Query {
        LecturesPage.Query(PageContextTests.context(query: fields))
    }

    /// The fields of an address.
    private static func fields(_ address: String) -> [(String, String)] {
        address.split(separator: "?").dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let words = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (words[0], (words.count > 1 ? words[1] : "").replacing("%20", with: " "))
        }
    }

    @Test(arguments: ItemState.allCases)
    func `a state is a choice`(state: ItemState) {
        let query = Self.query([("state", state.name)])
        #expect(query.filter.states == [state])
        #expect(query.address() == "/lectures?state=\(state.name)")
        #expect(Self.query(Self.fields(query.address())).filter == query.filter)
        #expect(Self.query([("state", state.name.uppercased())]).filter.states.isEmpty)
    }

    @Test(arguments: ContentType.allCases)
    func `a type is a choice`(type: ContentType) {
        let query = Self.query([("type", type.name)])
        #expect(query.filter.type == type)
        #expect(query.address() == "/lectures?type=\(type.name)")
        #expect(Self.query(Self.fields(query.address())).filter == query.filter)
        #expect(Self.query([("type", "\(type.name)x")]).filter.type == nil)
    }

    @Test(arguments: ContentSort.allCases)
    func `an order is a choice, and searches are by title`(sort: ContentSort) {
        let query = Self.query([("sort", sort.rawValue)])
        #expect(query.sort == sort)
        #expect(query.address() == (sort == .added ? "/lectures" : "/lectures?sort=\(sort.rawValue)"))
        #expect(Self.query(Self.fields(query.address())).sort == sort)
        let searched = Self.query([("sort", sort.rawValue), ("search", "x")])
        #expect(searched.sort == .title && searched.address() == "/lectures?search=x&sort=title")
    }

    @Test func `all choices together are one address, in one order`() throws {
        let fields = [
            ("sort", "expiry"), ("expiring", "60"), ("type", "adaptiveDownload"), ("state", "completed"),
            ("course", "Physics II"),
        ]
        let query = Self.query(fields)
        let address = "/lectures?course=Physics%20II&state=completed&type=\(ContentType.adaptiveDownload.name)"
        let known = Self.query([("type", ContentType.adaptiveDownload.name)]).filter.type
        #expect(known == .adaptiveDownload)
        if query.filter.type == .adaptiveDownload {
            #expect(query.address() == "\(address)&expiring=60&sort=expiry")
        }
        let again = Self.query(Self.fields(query.address()))
        #expect(again.filter == query.filter && again.sort == query.sort && again.days == query.days)
        #expect(again.address() == query.address())
    }

    @Test(arguments: [
        ("after", "k1"), ("before", "k1"), ("after", "a b"), ("before", "강의"), ("after", "a/b"), ("before", "~x"),
    ])
    func `a place is a lecture's key`(name: String, key: String) throws {
        let query = Self.query([(name, key), ("state", "failed")])
        #expect((name == "after" ? query.after : query.before)?.text == key)
        #expect((name == "after" ? query.before : query.after) == nil)
        #expect(query.address() == "/lectures?state=failed", "the address of the first page")
        let place = query.address((name, try ContentKey(key)))
        #expect(place.hasPrefix("/lectures?state=failed&\(name)=") && PageContext.localPath(place) == place)
    }

    @Test func `what is too long or empty is no choice`() {
        let long = String(repeating: "x", count: 513)
        for name in ["search", "course", "state", "type", "expiring", "sort", "after", "before"] {
            for value in ["", long] {
                let query = Self.query([(name, value)])
                #expect(query.address() == "/lectures", "\(name)")
                #expect(query.after == nil && query.before == nil && query.filter == ContentFilter(), "\(name)")
            }
        }
    }

    @Test(
        arguments: [
            ("1", 1),
            ("7", 7),
            ("30", 30),
            ("60", 60),
            ("0", nil),
            ("2", nil),
            ("61", nil),
            ("-1", nil),
            ("1.0", nil),
            ("07", 7),
            ("+7", 7),
            ("7 ", nil),
            ("seven", nil),
        ] as [(String, Int?)])
    func `days until an end are those that the form offers`(text: String, days: Int?) {
        let query = Self.query([("expiring", text)])
        #expect(query.days == days)
        #expect((query.filter.expiresBefore != nil) == (days != nil))
        let address = days.map { "/lectures?expiring=\($0)" } ?? "/lectures"
        #expect(query.address() == address)
        #expect(Self.query(Self.fields(address)).days == days)
    }
}
