/** The names of `builtinTools` (builtin-tools.ts), for modules that must not load the tools. */
export const BUILTIN_TOOL_NAMES = [
  "Read",
  "Write",
  "Edit",
  "Glob",
  "Grep",
  "Bash",
  "WebFetch",
  "TaskOutput",
  "TaskStop",
] as const;
