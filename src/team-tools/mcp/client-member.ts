import { authenticProtocol } from "../../protocol/authenticate.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { readJournal } from "../../team/inbox/journal.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { ToolCaller } from "../context.ts";

/** A member whose program is an MCP client. Its state is in the team's files: nothing in this process needs to survive. */
export class ClientMember implements ToolCaller {
  readonly name: string;
  readonly color: string | undefined;
  readonly shutdownRequests: ToolCaller["shutdownRequests"];
  readonly workSinceIdle: ToolCaller["workSinceIdle"];
  #peerSummary: string | undefined;
  #completedTaskId: string | undefined;

  constructor(ref: TeamRef, name: string, color: string | undefined) {
    this.name = name;
    this.color = color;
    const answered = new Set<string>();
    this.shutdownRequests = {
      isOpen: (id) => !answered.has(id) && hasShutdownRequest(ref, name, id),
      close: (id) => void answered.add(id),
    };
    this.workSinceIdle = {
      addPeerMessage: (peer, summary) => {
        this.#peerSummary = `[to ${peer}] ${summary}`;
      },
      addCompletedTask: (id) => {
        this.#completedTaskId = id;
      },
    };
  }

  agreeToStop(): void {
    // Its program ends when its client, the lead or a person ends it.
  }

  setTaskHeld(): void {
    // Only the status record of our agents names the tasks that they hold.
  }

  showQuestion(): void {
    // Its screen belongs to its own program; the request is in `teams approvals`.
  }

  /** Returns the idle notice for the work since the last one, and starts over. */
  takeIdleNotice(result: string | undefined, failure: string | undefined, now: number): string {
    const taskId = this.#completedTaskId;
    const summary = this.#peerSummary;
    this.#completedTaskId = undefined;
    this.#peerSummary = undefined;
    return formatProtocol(
      {
        type: "idle_notification",
        from: this.name,
        idleReason: failure === undefined ? "available" : "failed",
        ...(summary === undefined ? {} : { summary }),
        ...(result === undefined ? {} : { result }),
        ...(taskId === undefined ? {} : { completedTaskId: taskId, completedStatus: "success" }),
        ...(failure === undefined ? {} : { failureReason: failure }),
      },
      new Date(now),
    );
  }
}

/** Whether this request was sent to the member: it is in the inbox, or in the journal if it has left the inbox. */
function hasShutdownRequest(ref: TeamRef, agent: string, requestId: string): boolean {
  const isRequest = (message: InboxMessage): boolean => {
    if (!message.text.includes(requestId)) return false;
    const protocol = authenticProtocol(message, agent);
    return protocol?.type === "shutdown_request" && protocol.requestId === requestId;
  };
  if (peekInbox(ref, agent).some(isRequest)) return true;
  return [...readJournal(ref, agent).values()].some(
    ({ message }) => message !== undefined && isRequest(message),
  );
}
