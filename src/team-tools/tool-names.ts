/**
 * The names of all team tools, for leads and teammates. Separate from the tools, so that commands can check names without loading
 * them.
 */
export const TEAM_TOOL_NAMES = [
  "SendMessage",
  "TaskCreate",
  "TaskGet",
  "TaskUpdate",
  "TaskList",
  "AskUserQuestion",
  "TeamCreate",
  "TeamDelete",
  "Agent",
  "ExitPlanMode",
] as const;
