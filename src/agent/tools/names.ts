/** What `builtinTools` of registry.ts are called, for whom the tools themselves are too heavy to load. */
export const BUILTIN_TOOL_NAMES = [
  "Read",
  "Write",
  "Edit",
  "Glob",
  "Grep",
  "Bash",
  "TaskOutput",
  "TaskStop",
] as const;

/** Whether a tool is had where these are named: what looks after commands in the background comes with the one that starts them. */
export function isAmong(name: string, named: readonly string[]): boolean {
  return named.includes(name) || (/^Task(Output|Stop)$/.test(name) && named.includes("Bash"));
}
