/// Completion for zsh, by its `_arguments`.
enum ZshCompletion {
    static func script() -> String {
        let functions = ShellCompletion.nodes.map { node($0.path, $0.spec) }.joined(separator: "\n\n")
        return """
            #compdef lecturectl
            # zsh completion for lecturectl; written by 'lecturectl completion zsh'.

            _lecturectl_keys() {
                local -a keys store
                (( $+opt_args[--store] )) && store=(--store ${(Q)opt_args[--store]})
                keys=(${(f)"$(lecturectl list --json $store 2> /dev/null | \(ShellCompletion.keyFilter))"})
                compadd -a keys
            }

            \(functions)

            if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
                _lecturectl "$@"
            else
                compdef _lecturectl lecturectl
            fi
            """ + "\n"
    }

    private static func node(_ path: [String], _ spec: CommandSpec) -> String {
        let name = (["_lecturectl"] + path).joined(separator: "_")
        let options = (spec.visibleOptions + CommandTable.globalOptions(behind: spec)).flatMap(entries)
        guard spec.subcommands.isEmpty else { return branch(name, path, spec, options) }
        let arguments = spec.arguments.map { argument in
            let action = action(argument.grammar)
            return argument.maximum == 1
                ? ShellCompletion.quoted("\(argument.minimum == 0 ? "::" : ":")\(argument.name):\(action)")
                : ShellCompletion.quoted("*:\(argument.name):\(action)")
        }
        let lines = (options + arguments).map { "        \($0)" }.joined(separator: " \\\n")
        return "\(name)() {\n    _arguments -s -S \\\n\(lines)\n}"
    }

    private static func branch(_ name: String, _ path: [String], _ spec: CommandSpec, _ options: [String]) -> String {
        let commands = spec.subcommands.map { "            \(ShellCompletion.quoted("\($0.name):\($0.summary)"))" }
        let cases = spec.subcommands.map { "            \($0.name)) \(name)_\($0.name) ;;" }
        return """
            \(name)() {
                local curcontext="$curcontext" state line
                local -a commands
                typeset -A opt_args
                _arguments -C -s -S \\
            \(options.map { "        \($0)" }.joined(separator: " \\\n")) \\
                    '1: :->command' '*:: :->rest' && return
                case $state in
                command)
                    commands=(
            \(commands.joined(separator: "\n"))
                    )
                    _describe -t commands command commands
                    ;;
                rest)
                    case $line[1] in
            \(cases.joined(separator: "\n"))
                    esac
                    ;;
                esac
            }
            """
    }

    private static func entries(_ option: OptionSpec) -> [String] {
        let help = "[\(bracketed(option.help))]"
        var value = ""
        if let grammar = option.grammar {
            value = ":\(ShellCompletion.replacing(":", with: #"\:"#, in: option.valueName)):\(action(grammar))"
            if case .optional = option.kind { value = ":\(value)" }
        }
        var star = ""
        if case .repeated = option.kind { star = "*" }
        let short = option.short.map { ["\(star)-\($0)\(value.isEmpty ? "" : "+")\(help)\(value)"] } ?? []
        let long = "\(star)--\(option.long)\(value.isEmpty ? "" : "=")\(help)\(value)"
        return (short + [long]).map(ShellCompletion.quoted)
    }

    private static func bracketed(_ text: String) -> String {
        let open = ShellCompletion.replacing("[", with: #"\["#, in: text)
        return ShellCompletion.replacing("]", with: #"\]"#, in: open)
    }

    private static func action(_ grammar: ValueGrammar) -> String {
        switch grammar.completion {
        case .nothing: " "
        case .files: "_files"
        case .directories: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .keys: "_lecturectl_keys"
        case .commands: "(\(CommandTable.root.subcommands.map(\.name).joined(separator: " ")))"
        }
    }
}
