/**
 * Returns the global hooks that tmux runs after commands of a script. tmux waits for such a hook, and its exit status and output
 * become those of the call. Pure.
 * @param shown the output of `show-hooks -g`
 */
export function hooksAfter(sent: string, shown: string): string[] {
  const hooks = shown.split("\n").flatMap((line) => {
    // A line for a hook without a value contains only its name.
    const [, hook = "", command = ""] = /^(after-([a-z-]+))(?:\[\d+\])? \S/.exec(line) ?? [];
    return command !== "" && new RegExp(`\\b${command}\\b`).test(sent) ? [hook] : [];
  });
  return [...new Set(hooks)];
}

/** Returns a sentence that names the hooks and the command that shows them; undefined without hooks. */
export function hookAdvice(hooks: readonly string[]): string | undefined {
  const [first] = hooks;
  if (first === undefined) return undefined;
  const [noun, verb] = hooks.length === 1 ? ["hook", "runs"] : ["hooks", "run"];
  return `Your tmux ${noun} ${hooks.join(", ")} ${verb} after these commands; check with \`tmux show-hooks -g ${first}\`.`;
}
