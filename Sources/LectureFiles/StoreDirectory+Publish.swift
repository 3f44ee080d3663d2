import Glibc
package import LectureModel

extension StoreDirectory {
    /// Gives a finished file out, by shared blocks, a hard link or a copy.
    package func publish(path text: String, isSealed: Bool, to output: String) throws(LectureError) {
        if isSealed { throw LectureError(.isSealed, detail: text) }
        let path = try MediaPath(text)
        let target = try Publication(output: output)
        let bucket: Descriptor
        let source: Descriptor
        do throws(SystemError) {
            guard let found = try media.bucket(of: path, creating: false) else { throw SystemError(number: ENOENT) }
            bucket = found
            source = try found.open(path.name, O_RDONLY)
        } catch {
            throw FileIntent.read.error(error, path.text)
        }
        try target.receive(source, named: path.name, in: bucket)
    }
}
