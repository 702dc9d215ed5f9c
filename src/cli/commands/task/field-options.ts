import type { TaskFields } from "../../../team/tasks/task-fields.ts";
import type { Output } from "../../../terminal/output.ts";
import { optionWords } from "../../../text/shell-quote.ts";

/** Options of both `task add` and `task update`. */
export const FIELD_OPTIONS = {
  activeForm: { value: "text", summary: "what lists show while it is in progress: Writing the report" },
  verify: { value: "command", summary: "teams runs it before the task is completed; it must exit with 0" },
  reviewer: { value: "member", summary: "ask this member to review the completed task" },
  touches: {
    value: "globs",
    summary: "the files it changes: tasks that overlap never run at once",
    many: true,
  },
} as const;

interface FieldValues {
  readonly activeForm: string | undefined;
  readonly verify: string | undefined;
  readonly reviewer: string | undefined;
  readonly touches: readonly string[];
}

/** Returns the fields that the options name; an empty value removes one. `memberName` resolves an address. */
export function taskFields(
  { activeForm, verify, reviewer, touches }: FieldValues,
  memberName: (address: string) => string,
): TaskFields & { readonly activeForm?: string } {
  return {
    ...(activeForm === undefined ? {} : { activeForm: activeForm.trim() }),
    ...(verify === undefined ? {} : { verify: verify.trim() }),
    ...(reviewer === undefined ? {} : { reviewer: reviewer === "" ? "" : memberName(reviewer) }),
    ...(touches.length === 0 ? {} : { touches: splitGlobs(touches) }),
  };
}

/** Splits at commas outside braces: `src/{a,b}/**,docs/*`. */
function splitGlobs(values: readonly string[]): string[] {
  const parts = values.flatMap((value) => {
    const split = [""];
    let depth = 0;
    for (const char of value) {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      if (char === "," && depth <= 0) split.push("");
      else split[split.length - 1] += char;
    }
    return split;
  });
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** Notes that a model's command waits for a person's confirmation. */
export function noteProposal(
  { id, verify }: { readonly id: string; readonly verify: string | undefined },
  { note }: Pick<Output, "note">,
): void {
  if (!verify) return;
  note(
    `The verify command of task #${id} runs only after a person has confirmed it: teams task update ${id} ${optionWords("--verify", verify)}`,
  );
}
