/** What `builtinTools` of registry.ts are called, for whom the tools themselves are too heavy to load. */
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
