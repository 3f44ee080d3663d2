/// What a machine says of itself, as far as a virtual one differs from a real one.
package struct MachineSigns: Hashable, Sendable {
    /// The names in the firmware's tables (`/sys/class/dmi/id`): of the product, and of the vendors of the system, the
    /// board and the firmware.
    package var firmwareNames: [String] = []
    /// The flags of the processor (`/proc/cpuinfo`).
    package var processorFlags: Set<String> = []
    /// The kind of hypervisor that the kernel names (`/sys/hypervisor/type`); empty without one.
    package var hypervisor = ""
    /// The container that runs this program; empty outside of one.
    package var container = ""

    /// A machine that says nothing.
    package init() {}
}

/// Looks at the machine.
package protocol MachineInspector: Sendable {
    /// What it says of itself; what cannot be read is left out.
    func signs() -> MachineSigns
}
