import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { after, steadyNow } from "../../os/clock.ts";
import { newUuid } from "../../os/process/identity.ts";
import { plainText } from "../../protocol/messages.ts";
import { TYPED } from "../../schema/inbox.ts";
import { PERSON_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { WorkerContext } from "../context.ts";
import type { WorkerGates } from "../gates/gates.ts";
import type { InboundMessages } from "./inbound-messages.ts";

/** Milliseconds after which a line whose inbox is locked is shown: usually it is saved, and read, sooner. */
const SHOWN_MS = 150;

/**
 * Lines that a person types in an agent's pane: the answer to a permission request or a question, else input for the model.
 * Input goes through the agent's own inbox, marked so that no other sender can forge it: a line that waits for its turn
 * outlives the process, and is read once.
 */
export class TypedInput {
  readonly #context: WorkerContext;
  readonly #gates: WorkerGates;
  readonly #inbound: InboundMessages;

  constructor(context: WorkerContext, gates: WorkerGates, inbound: InboundMessages) {
    this.#context = context;
    this.#gates = gates;
    this.#inbound = inbound;
  }

  /**
   * Resolves when the line was an answer, or is in the inbox file.
   * @param begun when its first character was typed: a line that was begun before a request or question is not its answer;
   * omitted for a key that answers the shown request, and for text of this program
   * @param earliest the earliest possible time of its first character, if the exact time is unknown
   */
  async handleLine(line: string, begun?: number, earliest?: number): Promise<void> {
    const { permissionRequests, questions, cliQuestions } = this.#gates;
    let at = begun ?? steadyNow();
    if (permissionRequests.isOpen) {
      const use = await permissionRequests.answerFromLine(line, begun, earliest);
      if (use === "used") return;
      // It may be older than a question, too, which then stays open.
      if (use === "early") at = earliest ?? at;
    }
    if (cliQuestions.isOpen && (await cliQuestions.answerFromLine(line, at))) return;
    const { text, close } = questions.answerFromLine(line, at);
    await this.#sendToSelf(text);
    // Closed only now, so that a lost answer leaves its question open.
    close();
  }

  /** Like {@link handleLine}, but never the answer to a permission request or a form. @returns the key of its message */
  async handlePrompt(line: string): Promise<string> {
    const { text, close } = this.#gates.questions.answerFromLine(line, steadyNow());
    const key = await this.#sendToSelf(text);
    close();
    return key;
  }

  async #sendToSelf(line: string): Promise<string> {
    const { ref, name: to, clock, view } = this.#context;
    const text = plainText(line);
    let isSaved = (): void => undefined;
    const cancel = after(SHOWN_MS, () => {
      isSaved = view.saving(line);
    });
    try {
      const mail = { from: PERSON_NAME, to, text, isTyped: true };
      const { messageId } = await sendMessage(ref, mail, clock, (repair) => view.error(repair));
      return messageId;
    } catch (error) {
      if (!(error instanceof TeamError) && !isSystemError(error)) throw error;
      return this.#queueDirectly(text, error);
    } finally {
      cancel();
      isSaved();
    }
  }

  /** Queues a line that the inbox cannot take: the lead's team may be deleted, the file locked, or the disk full. */
  #queueDirectly(text: string, why: Error): string {
    const { view, clock } = this.#context;
    if (!(why instanceof TeamError && why.code === "TEAM_NOT_FOUND"))
      view.error(`your line is kept only as long as this process runs (${messageOf(why)})`);
    const timestamp = new Date(clock.now()).toISOString();
    const message = { from: PERSON_NAME, text, timestamp, read: false, type: TYPED };
    const key = newUuid();
    this.#inbound.queueForTurn([{ key, message, protocol: undefined }]);
    return key;
  }
}
