/** What the tools of registry.ts are called, a lead's and a teammate's, for whom the tools themselves are too heavy to load. */
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
