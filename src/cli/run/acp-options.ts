import { BUDGET_OPTIONS } from "../option-values.ts";
import { TOOL_OPTIONS } from "../tool-options.ts";
import { OPTIONS } from "./run-options.ts";

export const ACP_ARGS = [] as const;

const { model, playbook, teammateMode, permissionMode, systemPrompt, appendSystemPrompt, debug } = OPTIONS;

export const ACP_OPTIONS = {
  agent: { summary: "one agent alone, without teammates" },
  ...{ model, playbook, teammateMode, permissionMode },
  ...TOOL_OPTIONS,
  ...{ systemPrompt, appendSystemPrompt },
  ...BUDGET_OPTIONS,
  debug,
} as const;
