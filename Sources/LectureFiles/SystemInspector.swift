import Glibc
package import LectureModel

/// Reads what the kernel says of this machine.
package struct SystemInspector: MachineInspector {
    /// Where `/` is; another directory in tests.
    private let root: String

    /// Creates an inspector.
    ///
    /// - Parameter root: the directory with `sys`, `proc`, `run` and the marks of containers; empty for the machine's.
    package init(root: String = "") { self.root = root }

    /// What it says of itself.
    package func signs() -> MachineSigns {
        var signs = MachineSigns()
        signs.firmwareNames = ["product_name", "sys_vendor", "board_vendor", "bios_vendor"].compactMap { name in
            text("/sys/class/dmi/id/\(name)").map { String($0.prefix { $0 != "\n" }) }
        }
        let processors = text("/proc/cpuinfo") ?? ""
        if let line = processors.split(separator: "\n").first(where: { $0.hasPrefix("flags") }) {
            signs.processorFlags = Set(line.split { $0 == " " || $0 == ":" || $0 == "\t" }.map(String.init))
        }
        signs.hypervisor = (text("/sys/hypervisor/type") ?? "").split(separator: "\n").first.map(String.init) ?? ""
        if let kind = text("/run/systemd/container"), !kind.isEmpty {
            signs.container = String(kind.prefix { $0 != "\n" })
        } else if exists("/.dockerenv") {
            signs.container = "docker"
        } else if exists("/run/.containerenv") {
            signs.container = "podman"
        }
        return signs
    }

    private func exists(_ path: String) -> Bool { unsafe access(root + path, F_OK) == 0 }

    /// The start of a small file; nil when it cannot be read.
    private func text(_ path: String) -> String? {
        guard let number = try? systemCall({ unsafe open(root + path, O_RDONLY | O_CLOEXEC) }) else { return nil }
        let file = Descriptor(takingOwnership: number)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        guard let count = try? unsafe bytes.withUnsafeMutableBytes({ try unsafe file.read($0, at: 0) }) else {
            return nil
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
