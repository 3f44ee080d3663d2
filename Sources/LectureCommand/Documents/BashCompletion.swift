/// Completion for bash 4 and later, without the bash-completion package.
enum BashCompletion {
    static func script() -> String {
        """
        # bash completion for lecturectl; written by 'lecturectl completion bash'.

        # The kinds of an option's value and of the arguments, the options and the commands, by the words so far.
        _lecturectl_value() {
            case "$1" in
        \(values())
            *) echo none ;;
            esac
        }

        _lecturectl_arguments() {
            case "$1" in
        \(arguments())
            *) echo none ;;
            esac
        }

        _lecturectl_options() {
            case "$1" in
        \(options())
            esac
            echo '\(words(CommandTable.globalOptions))'
        }

        _lecturectl_commands() {
            case "$1" in
        \(commands())
            esac
        }

        \(driver)
        """ + "\n"
    }

    /// Reads the words before the cursor as the parser does, and offers what may come next.
    private static let driver = #"""
        _lecturectl() {
            local current="${COMP_WORDS[COMP_CWORD]}" path="" wanted="" word kind i=1
            local -a store=()
            COMPREPLY=()
            # bash cuts words at '=': "--sort=si" arrives as three.
            [[ $current == "=" ]] && current=""
            while (( i < COMP_CWORD )); do
                word="${COMP_WORDS[i]}"
                if [[ $word == "=" ]]; then
                    :
                elif [[ -n $wanted ]]; then
                    [[ $wanted == --store ]] && store=(--store "$word")
                    wanted=""
                elif [[ $word == -* ]]; then
                    kind=$(_lecturectl_value "$path $word")
                    [[ $kind == none ]] || wanted="$word"
                elif [[ " $(_lecturectl_commands "$path") " == *" $word "* ]]; then
                    path="${path:+$path }$word"
                fi
                i=$((i + 1))
            done
            if [[ -n $wanted ]]; then
                kind=$(_lecturectl_value "$path $wanted")
            elif [[ $current == -* ]]; then
                kind="words $(_lecturectl_options "$path")"
            elif [[ -n $(_lecturectl_commands "$path") ]]; then
                kind="words $(_lecturectl_commands "$path")"
            else
                kind=$(_lecturectl_arguments "$path")
            fi
            case "$kind" in
            "words "*) mapfile -t COMPREPLY < <(compgen -W "${kind#words }" -- "$current") ;;
            files) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
            directories) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
            keys) _lecturectl_keys "$current" ;;
            esac
        }

        # A key is offered unchanged: it may contain blanks and characters that bash would expand. bash also cuts at
        # ':', so the text before the last one is not repeated.
        _lecturectl_keys() {
            local prefix="" key i=$COMP_CWORD
            while (( i > 1 )) && [[ ${COMP_WORDS[i]} == ":" || ${COMP_WORDS[i-1]} == ":" ]]; do
                i=$((i - 1))
                prefix="${COMP_WORDS[i]}$prefix"
            done
            [[ $1 == ":" ]] && set -- ""
            [[ ${COMP_WORDS[COMP_CWORD]} == ":" ]] && prefix="$prefix:"
            while IFS= read -r key; do
                if [[ $key == "$prefix$1"* ]]; then
                    key="${key#"$prefix"}"
                    COMPREPLY+=("$(printf '%q' "$key")")
                fi
            done < <(lecturectl list --json "${store[@]}" 2> /dev/null | KEYFILTER)
        }

        complete -F _lecturectl lecturectl
        """#.split(separator: "KEYFILTER").joined(separator: ShellCompletion.keyFilter)

    private static func values() -> String {
        var lines: [String] = []
        for (path, spec) in ShellCompletion.nodes {
            for option in spec.visibleOptions {
                guard let grammar = option.grammar else { continue }
                let long = #""\#((path + ["--\(option.long)"]).joined(separator: " "))""#
                let short = option.short.map { #" | "\#((path + ["-\($0)"]).joined(separator: " "))""# } ?? ""
                lines.append("    \(long)\(short)) echo '\(kind(grammar))' ;;")
            }
        }
        for option in CommandTable.globalOptions {
            guard let grammar = option.grammar else { continue }
            lines.append(#"    *" --\#(option.long)") echo '\#(kind(grammar))' ;;"#)
        }
        return lines.joined(separator: "\n")
    }

    private static func arguments() -> String {
        CommandTable.leaves.compactMap { path, spec in
            guard let argument = spec.arguments.first else { return nil }
            return #"    "\#(path.joined(separator: " "))") echo '\#(kind(argument.grammar))' ;;"#
        }.joined(separator: "\n")
    }

    private static func options() -> String {
        ShellCompletion.nodes.compactMap { path, spec in
            guard !spec.visibleOptions.isEmpty else { return nil }
            return #"    "\#(path.joined(separator: " "))") echo '\#(words(spec.visibleOptions))' ;;"#
        }.joined(separator: "\n")
    }

    private static func commands() -> String {
        ShellCompletion.nodes.compactMap { path, spec in
            guard !spec.subcommands.isEmpty else { return nil }
            let names = spec.subcommands.map(\.name).joined(separator: " ")
            return #"    "\#(path.joined(separator: " "))") echo '\#(names)' ;;"#
        }.joined(separator: "\n")
    }

    private static func words(_ options: [OptionSpec]) -> String {
        options.flatMap { option in ["--\(option.long)"] + (option.short.map { ["-\($0)"] } ?? []) }
            .joined(separator: " ")
    }

    private static func kind(_ grammar: ValueGrammar) -> String {
        switch grammar.completion {
        case .nothing: "anything"
        case .files: "files"
        case .directories: "directories"
        case .words(let words): "words \(words.joined(separator: " "))"
        case .keys: "keys"
        case .commands: "words \(CommandTable.root.subcommands.map(\.name).joined(separator: " "))"
        }
    }
}
