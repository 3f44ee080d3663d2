package import LectureModel

extension MachineSigns {
    /// The beginnings of names that virtual machines have in their firmware, as systemd-detect-virt knows them.
    private static let firmware = [
        "KVM", "OpenStack", "KubeVirt", "Amazon EC2", "QEMU", "VMware", "VMW", "innotek GmbH", "VirtualBox",
        "Oracle Corporation", "Xen", "Bochs", "Parallels", "BHYVE", "Hyper-V", "Apple Virtualization",
        "Google Compute Engine", "Virtual Machine",
    ]

    /// Whether this is a virtual machine or a container. It finds what does not hide: a machine that names another
    /// vendor, and hides the flag of its processor, is taken for a real one.
    package var isVirtual: Bool {
        if !container.isEmpty { return true }
        // The first domain of Xen is refused, too: it runs beside virtual machines, and its kernel names a hypervisor.
        if !hypervisor.isEmpty || processorFlags.contains("hypervisor") { return true }
        return firmwareNames.contains { name in Self.firmware.contains { name.hasPrefix($0) } }
    }
}
