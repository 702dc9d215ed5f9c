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
import { line } from "../terminal/paint.ts";
import { textOption } from "./option-values.ts";

/** That what is allowed now is to be allowed always. */
interface AlwaysAllow {
  /** In place of those that the request suggests. */
  readonly rules: readonly string[];
  /** The file that they go into; without it the agent alone keeps them, for as long as it runs. */
  readonly save: SettingsScope | undefined;
}

/** Answers what waits under an id, as `approve` and `reject` do. @param note as the option has it; `-` reads stdin */
export async function answerRequest(
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
  // Who has crashed is started again, or let go with its pane.
  const ctx = isCrash
    ? await operationContext(call, open, loadSettings(open.home.root, io.cwd))
    : filesContext(call, open);
  if (isCrash && (always !== undefined || answer.mode !== undefined)) throw crashOptionsError(id);
  const text = await textOption(io, note, "note");
  const rules = always && rulesFor(readRequest(open.ref, id), always);
  // Looked at before the answer is given, made behind it: somebody else may have been first.
  const change = rules && (await ruleChangeFor(open, id, rules, always?.save));
  const approval = await answerApproval(ctx, id, {
    ...answer,
    decider: deciderOf(io.env),
    ...(text === undefined ? {} : { note: text }),
    ...(rules && { always: { rules, destination: change?.destination ?? "session" } }),
  });
  if (change !== undefined) {
    change.save();
    const { shareRules } = await import("../operations/approvals/share-rules.ts");
    await shareRules(ctx, change.rules, { asker: approval.from, directory: change.directory });
  }
  const { approve } = answer;
  const kept = rules && { rules, file: change?.file ?? null };
  out.done({ ...approval, approved: answer.approve, ...(kept && { always: kept }) }, () =>
    [doneLine(approval, approve), ...(kept ? [rulesLine(approval.from, kept)] : [])].join("\n"),
  );
}

function doneLine({ kind, from }: Approval, approve: boolean): string {
  if (kind === "crash") return line`${from} ${approve ? "was started again" : "has left the team"}.`;
  const word = kind === "question" ? "Answered" : approve ? "Approved" : "Rejected";
  return line`${word}: ${kind} of ${from}.`;
}

function crashOptionsError(id: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `${id} is a crash, which is approved as it is. Nothing was started.`,
    {
      hint: "Leave --mode, --always, --rule and --save out.",
    },
  );
}

function rulesLine(
  from: string,
  { rules, file }: { readonly rules: readonly string[]; readonly file: string | null },
): string {
  const shown = rules.join(", ");
  return file === null
    ? line`From now on without asking, as long as ${from} runs: ${shown}`
    : line`From now on without asking, by a rule in ${file}: ${shown}`;
}

/** @throws TeamError INVALID_INPUT where there is nothing to allow always */
function rulesFor({ id, kind, payload }: RequestRecord, { rules }: AlwaysAllow): readonly string[] {
  const refused = (what: string, hint: string): TeamError =>
    new TeamError("INVALID_INPUT", `${what} Nothing was sent.`, { hint });
  if (kind !== "permission") throw refused(`${id} does not ask for a permission.`, "Leave --always out.");
  const flaw = rules.find((rule) => parseRule(rule) === undefined);
  if (flaw !== undefined)
    throw refused(
      `${JSON.stringify(flaw)} is not a rule.`,
      "Rules look like Edit, Bash(git:*), Read(~/notes/**).",
    );
  if (rules.length > 0) return rules;
  const suggested = Array.isArray(payload.rules) ? payload.rules : [];
  const texts = suggested.filter((rule): rule is string => typeof rule === "string");
  if (texts.length > 0) return texts;
  throw refused(`No rule can allow what ${id} asks for.`, "Approve it without --always, each time.");
}

async function ruleChangeFor(
  { home, config, ref }: OpenTeam,
  id: string,
  rules: readonly string[],
  save: SettingsScope | undefined,
): Promise<RuleChange | undefined> {
  if (save === undefined) return undefined;
  const { prepareRuleChange } = await import("../settings/save-rule.ts");
  const { from } = readRequest(ref, id);
  const { cwd = "/" } = config.members.find(({ name }) => name === from) ?? {};
  return prepareRuleChange(home.root, cwd, save, rules);
}
