/// What each command of the table does.
package enum CommandActions {
    /// The actions by the words that call them; `help`, `version` and `completion` belong to the runner.
    package static let all: [String: CommandRunner.Action] = [
        "precache": PrecacheCommand.run,
        "list": ListCommand.run,
        "show": QueryCommands.show,
        "status": StatusCommand.run,
        "why": QueryCommands.why,
        "path": QueryCommands.path,
        "cat": QueryCommands.cat,
        "pause": QueueCommands.pause,
        "resume": QueueCommands.resume,
        "cancel": QueueCommands.cancel,
        "reorder": QueueCommands.reorder,
        "remove": QueueCommands.remove,
        "verify": VerifyCommand.run,
        "licence list": LicenceCommands.list,
        "licence show": LicenceCommands.show,
        "licence import": LicenceCommands.importFile,
        "licence renew": RenewCommand.run,
        "licence debts": LicenceCommands.debts,
        "licence verify": LicenceVerifyCommand.run,
        "device show": DeviceCommands.show,
        "device export": DeviceCommands.export,
        "device import": DeviceCommands.import,
        "store info": StoreCommands.info,
        "store check": StoreCommands.check,
        "store backup": StoreCommands.backup,
        "store migrate": StoreCommands.migrate,
    ]
}
