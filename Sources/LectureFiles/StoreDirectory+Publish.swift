import Glibc
package import LectureModel

extension StoreDirectory {
    /// A file that has its name, which may not be durable.
    private struct Named {
        let output: Publication
        let facts: OutputFacts
        let directory: FileIdentity
    }

    /// Publishes a finished file, by shared blocks, a hard link or a copy.
    @discardableResult
    package func publish(
        path: String, isSealed: Bool, to output: String, replacing right: OutputRight = .nothing
    ) throws(LectureError) -> OutputFacts {
        try publish([OutputOrder(path: path, isSealed: isSealed, output: output, right: right)])[0].get()
    }

    /// Publishes finished files: first all get their names, then each directory is synced once.
    package func publish(_ orders: [OutputOrder]) -> [Result<OutputFacts, LectureError>] {
        let named = orders.map { order in Result { () throws(LectureError) in try name(order) } }
        var syncs: [FileIdentity: Result<Void, SystemError>] = [:]
        return named.map { outcome in
            outcome.flatMap { file in
                let sync = syncs[file.directory] ?? file.output.syncName()
                syncs[file.directory] = sync
                return sync.map { file.facts }.mapError(file.output.failure)
            }
        }
    }

    private func name(_ order: OutputOrder) throws(LectureError) -> Named {
        if order.isSealed { throw LectureError(.isSealed, detail: order.path) }
        let path = try MediaPath(order.path)
        let target = try Publication(output: order.output, of: media)
        let bucket: Descriptor
        let source: Descriptor
        do throws(SystemError) {
            guard let found = try media.bucket(of: path, creating: false) else { throw SystemError(number: ENOENT) }
            bucket = found
            source = try found.open(path.name, O_RDONLY)
        } catch {
            throw FileIntent.read.error(error, path.text)
        }
        let facts = try target.receive(source, named: path.name, in: bucket, replacing: order.right)
        do throws(SystemError) {
            return Named(output: target, facts: facts, directory: try target.parent())
        } catch {
            throw target.failure(error)
        }
    }

    /// What is at a place outside the store.
    package func status(output: String) throws(LectureError) -> OutputFacts? {
        let parent = output.lastIndex(of: "/").map { String(output[...$0]) } ?? "."
        var facts = stat()
        guard unsafe stat(parent, &facts) == 0, facts.isDirectory else { return nil }
        return try Publication(output: output, of: media).inspect()?.outputFacts
    }
}
