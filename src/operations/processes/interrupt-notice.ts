import { transcriptEnd } from "../../adapter/inbox/claude-transcript.ts";
import { systemClock } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { HookRecord } from "../../schema/status.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import type { ForeignFacts, ForeignVerdict } from "../../team/members/judge-foreign.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Milliseconds within which a CLI records an interrupt that our key caused. */
const WRITTEN_MS = 10_000;
/** Milliseconds by which its time of an interrupt may precede ours. */
const SAME_MS = 2_000;

/** Sends the idle notice of a turn that was interrupted, in its own screen or by our key: claude itself sends none. */
export class InterruptNotice {
  readonly #ref: TeamRef;
  readonly #member: Pick<TeamMember, "name" | "color">;
  /** The interrupt of the newest notice, by its time in the transcript: our own time of it may come later. */
  #noticed: number | undefined;

  constructor(ref: TeamRef, member: Pick<TeamMember, "name" | "color">) {
    this.#ref = ref;
    this.#member = member;
  }

  /** Sends the notice once the transcript shows the interrupt. @returns whether the transcript may still show one */
  async poll(
    { state, stateFrom }: ForeignVerdict,
    { interruptedAt, turnEnds, now }: ForeignFacts,
    hook: HookRecord | undefined,
  ): Promise<boolean> {
    if (state !== "idle" || stateFrom !== "interrupt" || interruptedAt === undefined) return false;
    // Another process may have sent it.
    if ((turnEnds.at(-1)?.at ?? 0) >= interruptedAt) return false;
    if (hook?.transcript === undefined) return false;
    const written = transcriptEnd(hook.transcript).interruptedAt;
    if (written !== undefined && written === this.#noticed) return false;
    if (written === undefined || written < interruptedAt - SAME_MS) return now - interruptedAt < WRITTEN_MS;
    const { name, color } = this.#member;
    const fields = { type: "idle_notification", from: name, idleReason: "interrupted" } as const;
    const mail = {
      from: name,
      to: LEAD_NAME,
      text: formatProtocol(fields, new Date(interruptedAt)),
      messageId: eventMessageId("interrupted", name, String(written)),
      ...(color === undefined ? {} : { color }),
    };
    // Dated with the interrupt: a message that the member took since then began a turn.
    await sendMessage(this.#ref, mail, { ...systemClock, now: () => interruptedAt });
    this.#noticed = written;
    return false;
  }
}
