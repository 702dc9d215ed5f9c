/** Shells that teams completes for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The first lines of each script. */
const HEAD = (shell: Shell): string => `# ${shell} completion for teams, written by: teams completion ${shell}
# The names come from the program at each Tab, so this file need not change.
`;

/**
 * Bash evaluates no candidate: they come quoted, and neither `compgen -W` nor `eval` sees them. Works with bash 3.2, which has
 * neither `mapfile` nor `compopt`.
 */
const BASH = `${HEAD("bash")}
_teams_completion() {
  COMPREPLY=()
  local kind="" reply cur
  while IFS= read -r reply; do
    if [[ -z $kind ]]; then kind=$reply; else COMPREPLY+=("$reply"); fi
  done < <(command teams completion words bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  if [[ $kind == file || $kind == directory ]]; then
    if type compopt >/dev/null 2>&1; then
      if [[ $kind == directory ]]; then compopt -o dirnames; else compopt -o default; fi
    else
      cur=$2
      while IFS= read -r reply; do COMPREPLY+=("$(printf %q "$reply")"); done < <(compgen -f -- "$cur")
    fi
  fi
}
complete -F _teams_completion teams
`;

const ZSH = `#compdef teams
${HEAD("zsh")}
_teams() {
  local -a lines found shown
  local line kind
  lines=("\${(@f)$(command teams completion words zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  kind=$lines[1]
  if [[ $kind == file || $kind == directory ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if [[ $kind == directory ]]; then _files -/; else _files; fi
    return
  fi
  for line in "\${(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    found+=("\${line%%$'\\t'*}")
    if [[ -n \${line#*$'\\t'} ]]; then shown+=("\${line/$'\\t'/  -- }"); else shown+=("\${line%%$'\\t'*}"); fi
  done
  (( $#found )) || return 1
  compadd -V teams -l -d shown -a -- found
}

if [[ $funcstack[1] == _teams ]]; then
  _teams "$@"
else
  compdef _teams teams
fi
`;

const FISH = `${HEAD("fish")}
function __teams_complete
    # fish reports an unknown command even if stderr is discarded.
    command -q teams; or return
    set -l before (commandline -opc)
    set -l token (commandline -ct)
    set -l lines (command teams completion words fish $before[2..-1] "$token" 2>/dev/null </dev/null)
    switch "$lines[1]"
        case file directory
            set -l prefix (string match -r -- '^--[^=]*=' "$token")
            set -l typed (string replace -r -- '^--[^=]*=' '' "$token")
            if test "$lines[1]" = directory
                for path in (__fish_complete_directories "$typed" '')
                    printf '%s%s\\n' "$prefix" "$path"
                end
            else
                for path in (__fish_complete_path "$typed")
                    printf '%s%s\\n' "$prefix" "$path"
                end
            end
        case words
            for line in $lines[2..-1]
                printf '%s\\n' "$line"
            end
    end
end
complete -c teams -f -k -a '(__teams_complete)'
`;

/** The completion scripts by shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
