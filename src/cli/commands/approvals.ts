import { EXIT } from "../../errors.ts";
import { approvalJson } from "../../operations/approvals/approval-json.ts";
import {
  type Approval,
  type ApprovalDetails,
  approvalDetails,
} from "../../operations/approvals/approvals.ts";
import { chooseRequest } from "../../operations/approvals/choose-request.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import {
  defaultLine,
  hiddenInput,
  numbered,
  withShortRules,
} from "../../operations/approvals/request-texts.ts";
import { openTeams } from "../../runtime/select-team.ts";
import { asciiRequest } from "../../sidebar/views/ascii-request.ts";
import { line, wantsColors } from "../../terminal/output.ts";
import { type Cell, table } from "../../terminal/table.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { diffRows } from "../../text/diff/diff-rows.ts";
import { operand } from "../../text/shell-quote.ts";
import { shortCall } from "../../text/short-call.ts";
import { gridText, revealHidden, stripControls } from "../../text/terminal-text.ts";
import { openTeamOfRequest } from "../approvals/answer-request.ts";
import { listInTeams } from "../approvals/list-in-teams.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "approvals",
  summary: "List plans, permissions, questions and crashes that are waiting for you, or show one in full",
  args: [
    {
      name: "request",
      summary:
        "show only this request, in full: everything that it would do, or its plan; an id, or a member",
      optional: true,
    },
  ],
  options: {
    interactive: {
      short: "i",
      summary: "show one request at a time in full, and answer with keys: y, n, a, or m for a note",
    },
  },
  examples: ["teams approvals", "teams approvals -i", "teams approvals perm-1718000000000-ab12cd3 --json"],
  async run(call) {
    const { args, options, io, out } = call;
    const { ascii } = terminalAbilities(io.env);
    const isAscii = ascii && io.terminal.stdout;
    const sizes = {
      ascii: isAscii,
      width: (out.columns ?? Number.POSITIVE_INFINITY) - INDENT.length,
      plain: !wantsColors(io.env, io.terminal.stdout),
    };
    const { request } = args;
    const problem = (error: Error): void => out.note(line`${error.message}`);
    const opened =
      request === undefined
        ? openTeams(io.env, options, problem)
        : ([openTeamOfRequest(io.env, options, request)] as const);
    const [{ ref }] = opened;
    if (request !== undefined) await openForeignRequests(ref, io.env);
    const chosen = request && chooseRequest(ref, request);
    if (options.interactive) {
      const { openApprovalsView } = await import("../approvals/open-view.ts");
      return openApprovalsView(call, opened, chosen);
    }
    if (chosen !== undefined) {
      const approval = await approvalDetails(ref, chosen);
      out.answer({ approval: approvalJson(approval) }, () => {
        const shown = withShortRules(ref, approval);
        return fullText(isAscii ? asciiRequest(shown) : shown, sizes);
      });
      return EXIT.done;
    }
    const isOfSeveral = opened.length > 1;
    const listed = (await listInTeams(opened, io.env, problem)).map(({ approval, shown, cwd, open }) => {
      const inTeam = (one: Approval): Approval & { readonly team?: string } =>
        isOfSeveral ? { ...one, team: open.ref.team } : one;
      return { approval: inTeam(approval), shown: inTeam(shown), cwd };
    });
    const approvals = listed.map(({ approval }) => approval);
    out.answer({ approvals: approvals.map(approvalJson) }, () => {
      if (approvals.length === 0) return "Nothing is waiting for you.";
      const legible = listed.map(({ shown }) => (isAscii ? asciiRequest(shown) : shown));
      const rows = legible.map(({ id, kind, from, team, summary }, i): Cell[] => [
        id,
        out.styleText(kind, "attention"),
        team === undefined ? from : `${from}@${team}`,
        (room) => shortCall(summary, listed[i]?.cwd, room).text,
      ]);
      const list = table(["ID", "KIND", "FROM", "ABOUT"], rows, { columns: out.columns });
      return [list, ...legible.flatMap((one) => approvalLines(one, sizes)), answerHints(approvals)].join(
        "\n\n",
      );
    });
    return EXIT.done;
  },
});

const INDENT = "  ";

/** Columns and colours of the rows of a change. */
type Sizes = Pick<Parameters<typeof diffRows>[1], "width" | "plain" | "ascii">;

/** Returns the details that do not fit in a row. */
function approvalLines(approval: Approval, sizes: Sizes): readonly string[] {
  const { id, reason, change = [], choices = [], always = [] } = approval;
  const rows = [
    ...(reason === undefined ? [] : [indented(gridText(reason))]),
    ...changeRows(change, sizes),
    ...[...choices.map(numbered), ...defaultLine(approval), ...alwaysLine(always)].map(indented),
  ];
  return rows.length === 0 ? [] : [[line`${id}:`, ...rows].join("\n")];
}

/** The rows are safe to print: {@link diffRows} escapes hidden characters. */
function changeRows(change: readonly string[], sizes: Sizes): readonly string[] {
  return diffRows(change, sizes).map((row) => `${INDENT}${row}`);
}

function fullText(approval: ApprovalDetails, sizes: Sizes): string {
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
    always = [],
  } = approval;
  const texts = [
    hiddenInput(approval),
    question,
    planContent,
    ...choices.map(numbered),
    ...defaultLine(approval),
  ];
  const rows = [
    ...changeRows(change, sizes),
    ...texts.flatMap((text) => (text === undefined ? [] : text.split("\n"))).map(indented),
  ];
  return [
    line`${kind} of ${from}: ${planFilePath ?? summary}`,
    ...(reason === undefined ? [] : [gridText(reason)]),
    ...(rows.length === 0 ? [] : [rows.join("\n")]),
    ...alwaysLine(always),
    approval.answer === undefined ? answerHints([approval]) : answerText(approval.answer),
  ].join("\n\n");
}

/** Names what `--always` would allow, before the choice. */
function alwaysLine(rules: readonly string[]): readonly string[] {
  return rules.length === 0 ? [] : [line`always: ${revealHidden(rules.join(", "))}`];
}

function answerText({ approve, by, note }: NonNullable<ApprovalDetails["answer"]>): string {
  const verdict = line`Already ${approve ? "approved" : "rejected"} by ${by}`;
  return note === undefined ? `${verdict}.` : `${verdict}: ${gridText(note)}`;
}

/** Indents a text; the spaces at the start of a line of code stay. */
function indented(text: string): string {
  return `${INDENT}${stripControls(text).replaceAll("\t", "    ").replaceAll("\n", `\n${INDENT}`)}`;
}

/** Returns the commands that answer the requests. */
function answerHints(approvals: readonly Approval[]): string {
  const [first] = approvals;
  const id = approvals.length === 1 && first !== undefined ? operand(first.id) : "<id>";
  const kinds = new Set(approvals.map(({ kind }) => kind));
  const answer = `teams approve ${id}   or: teams reject ${id} --note "why"`;
  const isPartial = approvals.some(({ partial }) => partial);
  return [
    ...(isPartial ? [`Shown in part; read a request in full first: teams approvals ${id}`] : []),
    ...(kinds.has("plan") || kinds.has("permission") ? [`Answer with: ${answer}`] : []),
    ...(kinds.has("question") ? [`Answer a question with: teams approve ${id} --note "the answer"`] : []),
    ...(kinds.has("crash")
      ? [`Restart a crashed agent with: teams approve ${id}   or remove it: teams reject ${id}`]
      : []),
  ].join("\n");
}
