import Glibc
package import LectureModel

extension StoreDirectory {
    /// Publishes a finished file, by shared blocks, a hard link or a copy.
    @discardableResult
    package func publish(
        path text: String, isSealed: Bool, to output: String, replacing right: OutputRight = .nothing
    ) throws(LectureError) -> OutputFacts {
        if isSealed { throw LectureError(.isSealed, detail: text) }
        let path = try MediaPath(text)
        let target = try Publication(output: output, of: media)
        let bucket: Descriptor
        let source: Descriptor
        do throws(SystemError) {
            guard let found = try media.bucket(of: path, creating: false) else { throw SystemError(number: ENOENT) }
            bucket = found
            source = try found.open(path.name, O_RDONLY)
        } catch {
            throw FileIntent.read.error(error, path.text)
        }
        return try target.receive(source, named: path.name, in: bucket, replacing: right)
    }

    /// What is at a place outside the store.
    package func status(output: String) throws(LectureError) -> OutputFacts? {
        let parent = output.lastIndex(of: "/").map { String(output[...$0]) } ?? "."
        var facts = stat()
        guard unsafe stat(parent, &facts) == 0, facts.isDirectory else { return nil }
        return try Publication(output: output, of: media).inspect()?.outputFacts
    }
}
