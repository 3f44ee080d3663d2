/// The commands that take reports out of the store, bring them back, and erase a learner.
extension CommandTable {
    static let statisticsExport: [CommandSpec] = []
}
