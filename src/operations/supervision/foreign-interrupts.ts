import { transcriptEnd } from "../../adapter/inbox/claude-transcript.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import type { HookRecord } from "../../schema/status.ts";
import { judgeForeign } from "../../team/members/judge-foreign.ts";
import { readHook } from "../../team/records/hook-record.ts";
import type { OperationContext } from "../context.ts";
import { recordedFacts } from "../processes/foreign-facts.ts";
import { isForeignMember, recordedProof } from "../processes/foreign-members.ts";
import { InterruptNotice } from "../processes/interrupt-notice.ts";

/** Milliseconds between two reads of the transcript of a claude in a turn: nothing rings when a person ends that turn. */
const POLL_MS = 5_000;

/**
 * Sends the idle notices of foreign members whose turn was interrupted, in their own screen or by our key. Only hooks name the
 * transcript that shows it. Idempotent, even across processes.
 */
export async function notifyForeignInterrupts(ctx: OperationContext, config: TeamConfig): Promise<void> {
  for (const { member, hook } of withTranscript(ctx, config)) {
    const facts = recordedFacts(ctx, member);
    // A request that the interrupt has ended may still be open.
    if (facts === undefined || facts.alive === false) continue;
    const verdict = judgeForeign({ ...facts, request: undefined });
    await new InterruptNotice(ctx.ref, member).poll(verdict, facts, hook);
  }
}

/** Returns after how many milliseconds a transcript must be read again; undefined if no foreign member is in a turn. */
export function untilInterruptPoll(ctx: OperationContext, config: TeamConfig): number | undefined {
  const isInTurn = ({ hook: { event, at, transcript } }: Hooked): boolean =>
    IN_TURN.has(event) && (transcriptEnd(transcript).interruptedAt ?? 0) <= at;
  return withTranscript(ctx, config).some(isInTurn) ? POLL_MS : undefined;
}

/** Events of a turn that has not ended. */
const IN_TURN: ReadonlySet<HookRecord["event"]> = new Set(["prompted", "tool", "asking"]);

interface Hooked {
  readonly member: TeamMember;
  readonly hook: HookRecord & { readonly transcript: string };
}

/** Returns the foreign members whose hooks name a transcript, and whose process has not ended. */
function withTranscript(ctx: OperationContext, config: TeamConfig): readonly Hooked[] {
  // In a team of another program, teams sends nothing in the name of its members.
  if (config.schemaVersion === undefined) return [];
  return config.members.flatMap((member): Hooked[] => {
    const hook = readHook(ctx.ref, member.name);
    if (hook?.transcript === undefined || hook.at < member.joinedAt) return [];
    if (!isForeignMember(ctx.ref, member) || recordedProof(ctx.ref, member).alive === false) return [];
    return [{ member, hook: { ...hook, transcript: hook.transcript } }];
  });
}
