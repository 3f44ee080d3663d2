import Foundation
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

@Suite struct SystemInspectorTests {
    private static func machine(_ files: [String: String]) throws -> (TemporaryDirectory, MachineSigns) {
        let directory = try TemporaryDirectory()
        for (name, text) in files {
            let file = URL(filePath: directory.file(name))
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return (directory, SystemInspector(root: directory.path).signs())
    }

    @Test func `firmware, processor, hypervisor and container are read`() throws {
        let (_, signs) = try Self.machine([
            "sys/class/dmi/id/sys_vendor": "QEMU\n", "sys/class/dmi/id/product_name": "Standard PC\n",
            "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\nflags\t\t: other\n",
            "sys/hypervisor/type": "xen\n", "run/systemd/container": "lxc\n",
        ])
        #expect(signs.firmwareNames == ["Standard PC", "QEMU"])
        #expect(signs.processorFlags.isSuperset(of: ["fpu", "hypervisor", "lahf_lm"]))
        #expect(!signs.processorFlags.contains("other"))
        #expect(signs.hypervisor == "xen" && signs.container == "lxc")
    }

    @Test(arguments: [(".dockerenv", "docker"), ("run/.containerenv", "podman")])
    func `a mark of a container counts`(mark: String, kind: String) throws {
        let (_, signs) = try Self.machine([mark: ""])
        #expect(signs.container == kind)
    }

    @Test func `what cannot be read is left out`() throws {
        let (_, signs) = try Self.machine([:])
        #expect(signs == MachineSigns())
    }
}
