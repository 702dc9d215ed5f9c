import { parseRule } from "../agent/permissions/rules.ts";
import { TeamError } from "../errors.ts";
import { type Approval, type ApprovalAnswer, answerApproval } from "../operations/approvals/approvals.ts";
import { openForeignRequests } from "../operations/approvals/foreign-requests.ts";
import { isCrashId } from "../protocol/request-ids.ts";
import { filesContext, operationContext } from "../runtime/operation-context.ts";
import { deciderOf, type OpenTeam, openTeam } from "../runtime/select-team.ts";
import type { RuleChange } from "../settings/save-rule.ts";
import { loadSettings } from "../settings/settings.ts";
import type { SettingsScope } from "../settings/settings-files.ts";
import { type RequestRecord, readRequest } from "../team/requests/requests.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";
import { textOption } from "./option-values.ts";

/** Options of `approve` that also allow further calls. */
interface AlwaysAllow {
  /** Replace the rules that the request suggests; empty: use the suggested ones. */
  readonly rules: readonly string[];
  /** The settings file for the rules; without it only the asking agent has them, until it ends. */
  readonly save: SettingsScope | undefined;
}

/** Answers a waiting request, as `approve` and `reject` do. @param note the value of `--note`; `-` reads stdin */
export async function answerFromCommand(
  call: AnyCall,
  id: string,
  note: string | undefined,
  answer: Pick<ApprovalAnswer, "approve" | "mode">,
  always?: AlwaysAllow,
): Promise<void> {
  const { options, io, out } = call;
  const open = openTeam(io.env, options);
  const isCrash = isCrashId(id);
  openForeignRequests(open.ref);
  // A crashed agent is restarted, or removed with its pane: only the full context can do that.
  const ctx = isCrash
    ? await operationContext(call, open, loadSettings(open.home.root, io.cwd))
    : filesContext(call, open);
  if (isCrash && (always !== undefined || answer.mode !== undefined)) throw crashOptionsError(id);
  const text = await textOption(io, note, "note");
  const rules = always && rulesFor(readRequest(open.ref, id), always);
  // Checked before the answer, saved after it: another answer may have come first.
  const change = rules && (await ruleChangeFor(open, id, rules, always?.save, deciderOf(io.env)));
  const approval = await answerApproval(ctx, id, {
    ...answer,
    decider: deciderOf(io.env),
    ...(text === undefined ? {} : { note: text }),
    ...(rules && { always: { rules, destination: change?.destination ?? "session" } }),
  });
  if (change !== undefined) {
    await change.save();
    const { shareRules } = await import("../operations/approvals/share-rules.ts");
    await shareRules(ctx, change.rules, { asker: approval.from, directory: change.directory });
  }
  const { approve } = answer;
  const saved = rules && { rules, file: change?.file ?? null };
  out.done({ ...approval, approved: answer.approve, ...(saved && { always: saved }) }, () =>
    [doneLine(approval, approve), ...(saved ? [rulesLine(approval.from, saved)] : [])].join("\n"),
  );
}

function doneLine({ kind, from }: Approval, approve: boolean): string {
  if (kind === "crash") return line`${from} ${approve ? "was restarted" : "was removed from the team"}.`;
  const word = kind === "question" ? "Answered" : approve ? "Approved" : "Rejected";
  return line`${word}: ${kind} of ${from}.`;
}

function crashOptionsError(id: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `${id} is a crash: approving it takes no options. Nothing was restarted.`,
    {
      hint: `Approve it without --mode, --always, --rule and --save: teams approve ${id}`,
    },
  );
}

function rulesLine(
  from: string,
  { rules, file }: { readonly rules: readonly string[]; readonly file: string | null },
): string {
  const list = rules.join(", ");
  return file === null
    ? line`Allowed without asking until ${from} ends: ${list}`
    : line`Allowed without asking, saved in ${file}: ${list}`;
}

/** Returns the given rules, else the suggested ones. @throws TeamError INVALID_INPUT if no rule can allow the request */
function rulesFor({ id, kind, payload }: RequestRecord, { rules }: AlwaysAllow): readonly string[] {
  const refused = (why: string, hint: string): TeamError =>
    new TeamError("INVALID_INPUT", `${why} Nothing was sent.`, { hint });
  if (kind !== "permission")
    throw refused(`${id} is not a permission request.`, "Answer it without --always.");
  const invalid = rules.find((rule) => parseRule(rule) === undefined);
  if (invalid !== undefined)
    throw refused(
      `${JSON.stringify(invalid)} is not a rule.`,
      "Write a rule such as Edit, Bash(git:*) or Read(~/notes/**).",
    );
  if (rules.length > 0) return rules;
  const suggested = Array.isArray(payload.rules) ? payload.rules : [];
  const texts = suggested.filter((rule): rule is string => typeof rule === "string");
  if (texts.length > 0) return texts;
  throw refused(`No rule can allow what ${id} asks for.`, "Approve it without --always.");
}

async function ruleChangeFor(
  { home, config, ref }: OpenTeam,
  id: string,
  rules: readonly string[],
  save: SettingsScope | undefined,
  decider: "person" | "model",
): Promise<RuleChange | undefined> {
  if (save === undefined) return undefined;
  const { prepareRuleChange } = await import("../settings/save-rule.ts");
  const { from } = readRequest(ref, id);
  const { cwd = "/" } = config.members.find(({ name }) => name === from) ?? {};
  return prepareRuleChange(home.root, cwd, save, rules, decider);
}
