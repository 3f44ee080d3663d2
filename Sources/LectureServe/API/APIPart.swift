import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel

/// The JSON API for programs: `/api/v1/…`, with the objects of `--json`. For operators.
struct APIPart: SitePart {
    /// How long a body may be.
    static let bodyLimit = 64 << 10

    /// All operations, in the order of the document.
    let operations: [APIOperation]

    /// Creates the part.
    ///
    /// - Parameters:
    ///   - manager: the store.
    ///   - watch: says what happens.
    ///   - renewals: what is begun here.
    ///   - version: of the program.
    init(_ manager: LectureManager, _ watch: StoreWatch, _ renewals: SiteRenewals, version: String) {
        let actions = LectureActions(manager: manager, renewals: renewals)
        let events = APIEvents(manager, watch)
        let asked =
            [StoreOperations(manager: manager, events: events, version: version).all]
            + [LectureOperations(manager: manager, actions: actions).all]
            + [LicenceOperations(manager: manager, actions: actions).all]
        let document = APIDocument.answer(asked.flatMap(\.self), version: version)
        operations = [APIDocument.operation { document }] + asked.flatMap(\.self)
    }

    func routes(_ path: [String]) -> [String: SiteRoute]? {
        guard path.starts(with: ["api", "v1"]) else { return nil }
        var routes: [String: SiteRoute] = [:]
        let below = Array(path.dropFirst(2))
        for operation in operations {
            guard let values = operation.match(below) else { continue }
            routes[operation.method] = SiteRoute(.role(.operator)) { request, exchange in
                await Self.answer(operation, values, request, exchange)
            }
        }
        return routes.isEmpty ? nil : routes
    }

    private static func answer(
        _ operation: APIOperation, _ path: [String: String], _ request: SiteRequest, _ exchange: HTTPExchange
    ) async -> HTTPAnswer? {
        do {
            var values = path
            for parameter in operation.place where !parameter.accepts(path[parameter.name] ?? "") {
                throw bad(parameter)
            }
            for field in request.head.query {
                guard let parameter = operation.query.first(where: { $0.name == field.name }) else {
                    throw unknown(field.name)
                }
                guard values[field.name] == nil, parameter.accepts(field.value) else { throw bad(parameter) }
                values[field.name] = field.value
            }
            if let problem = try read(request, of: operation, into: &values) { return problem.answer() }
            return try await operation.answer(APICall(values: values, request: request, exchange: exchange))
        } catch {
            return APIProblem(LectureError.known(error)).answer()
        }
    }

    /// Reads the body.
    private static func read(
        _ request: SiteRequest, of operation: APIOperation, into values: inout [String: String]
    ) throws(LectureError) -> APIProblem? {
        guard !operation.body.isEmpty else {
            guard request.body.isEmpty else {
                throw LectureError(.parameter, detail: "body", cause: "this operation takes none")
            }
            return nil
        }
        let type = request.head.value("content-type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            return APIProblem(415, "content_type", "The body must be application/json.")
        }
        guard request.body.count <= bodyLimit else { return .tooLong }
        guard let members = (try? JSONScanner.scan(request.body))?.members else {
            throw LectureError(.parameter, detail: "body", cause: "it must be a JSON object")
        }
        for member in members {
            guard let parameter = operation.body.first(where: { $0.name == member.name }) else {
                throw unknown(member.name)
            }
            guard let text = parameter.text(member.value), parameter.accepts(text) else { throw bad(parameter) }
            values[member.name] = text
        }
        for parameter in operation.body where parameter.isRequired && values[parameter.name] == nil {
            throw LectureError(.parameter, detail: parameter.name, cause: "it is missing")
        }
        return nil
    }

    private static func bad(_ parameter: APIParameter) -> LectureError {
        LectureError(.parameter, detail: parameter.name, cause: "it is given twice, or has a wrong value")
    }

    private static func unknown(_ name: String) -> LectureError {
        LectureError(.parameter, detail: String(name.prefix(40)), cause: "there is no such parameter")
    }
}
