import {
  type Approval,
  type ApprovalDetails,
  approvalDetails,
  listApprovals,
} from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { line } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { operand } from "../../text/shell-quote.ts";
import { gridText, stripControls } from "../../text/terminal-text.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "approvals",
  summary: "List plans, permissions, questions and crashes that wait for you, or show one in full",
  args: [
    {
      name: "id",
      summary: "show only this request, in full: everything that it would do, or its plan",
      optional: true,
    },
  ],
  options: {},
  examples: [
    "teams approvals",
    "teams approvals perm-1718000000000-ab12cd3",
    "teams approvals --team review --json",
  ],
  async run({ args, options, io, out }) {
    const { ref } = openTeam(io.env, options);
    openForeignRequests(ref);
    if (args.id !== undefined) {
      const approval = approvalDetails(ref, args.id);
      return out.answer({ approval }, () => fullText(approval));
    }
    const approvals = listApprovals(ref);
    out.answer({ approvals }, () => {
      if (approvals.length === 0) return "Nothing waits for you.";
      const rows = approvals.map(({ id, kind, from, summary }) => [
        id,
        out.styleText(kind, "attention"),
        from,
        summary,
      ]);
      const list = table(["ID", "KIND", "FROM", "ABOUT"], rows, { columns: out.columns });
      return [list, ...approvals.flatMap(approvalLines), answerHints(approvals)].join("\n\n");
    });
  },
});

/** Returns the details that do not fit in a row. */
function approvalLines({ id, change = [], choices = [] }: Approval): readonly string[] {
  const lines = [...change, ...choices.map(numbered)];
  return lines.length === 0 ? [] : [[line`${id}:`, ...lines.map(indented)].join("\n")];
}

function fullText(approval: ApprovalDetails): string {
  const {
    kind,
    from,
    summary,
    reason,
    change = [],
    choices = [],
    question,
    planFilePath,
    planContent,
  } = approval;
  const input = change.length > 0 ? undefined : JSON.stringify(approval.input, undefined, 2);
  const texts = [...change, input, question, planContent, ...choices.map(numbered)];
  const rows = texts.flatMap((text) => (text === undefined ? [] : text.split("\n")));
  return [
    line`${kind} of ${from}: ${planFilePath ?? summary}`,
    ...(reason === undefined ? [] : [gridText(reason)]),
    ...(rows.length === 0 ? [] : [rows.map(indented).join("\n")]),
    approval.answer === undefined ? answerHints([approval]) : answerText(approval.answer),
  ].join("\n\n");
}

function answerText({ approve, by, note }: NonNullable<ApprovalDetails["answer"]>): string {
  const verdict = line`Already ${approve ? "approved" : "rejected"} by ${by}`;
  return note === undefined ? `${verdict}.` : `${verdict}: ${gridText(note)}`;
}

function numbered(choice: string, at: number): string {
  return `${at + 1}  ${choice}`;
}

/** Indents a text; the blanks at the start of a line of code stay. */
function indented(text: string): string {
  return `  ${stripControls(text).replaceAll("\t", "    ").replaceAll("\n", "\n  ")}`;
}

/** Returns the commands that answer the requests. */
function answerHints(approvals: readonly Approval[]): string {
  const [first] = approvals;
  const id = approvals.length === 1 && first !== undefined ? operand(first.id) : "<id>";
  const kinds = new Set(approvals.map(({ kind }) => kind));
  const answer = `teams approve ${id}   or: teams reject ${id} --note "why"`;
  return [
    ...(kinds.has("plan") || kinds.has("permission") ? [`Answer with: ${answer}`] : []),
    ...(kinds.has("question") ? [`Answer a question with: teams approve ${id} --note "the answer"`] : []),
    ...(kinds.has("crash")
      ? [`Restart a crashed agent with: teams approve ${id}   or remove it: teams reject ${id}`]
      : []),
  ].join("\n");
}
