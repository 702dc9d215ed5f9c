import { PERMISSION_MODES } from "../../schema/config.ts";
import { defineCommand } from "../command.ts";
import { decide } from "../decide.ts";

/** Modes that a plan can go on in: what follows a plan is work. */
const MODES = PERMISSION_MODES.filter((mode) => mode !== "plan" && mode !== "delegate");

export const command = defineCommand({
  name: "approve",
  summary: "Approve a plan or permission, or answer a question",
  args: [{ name: "id", summary: "the request, as `teams approvals` lists it" }],
  options: {
    note: { value: "text", summary: "feedback; for a question its answer; - reads stdin" },
    mode: { value: "mode", summary: "the mode an approved plan goes on in", choices: MODES },
  },
  examples: [
    "teams approve plan_approval-1718000000000@planner@review",
    'teams approve question-1718000000000@dev --note "Use port 8080."',
  ],
  run: (call) => {
    const { mode } = call.options;
    return decide(call, call.args.id, call.options.note, {
      approve: true,
      ...(mode === undefined ? {} : { mode }),
    });
  },
});
