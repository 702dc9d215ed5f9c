import { randomBytes } from "node:crypto";
import { isAbsolute } from "node:path";
import type {
  AgentContext,
  McpServer,
  PromptRequest,
  PromptResponse,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { TeamError } from "../../errors.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { capturedIo } from "../../terminal/captured-io.ts";
import { openOutput } from "../../terminal/output.ts";
import type { LeadPlan } from "../lead/lead.ts";
import { type ClientAbilities, ClientPeer } from "./client-peer.ts";
import { MAX_SESSIONS } from "./limits.ts";
import { serversOf } from "./mcp-servers.ts";
import { promptText } from "./prompt-text.ts";
import { Session } from "./session.ts";
import { modeNamed, modesOf } from "./session-modes.ts";
import type { PromptEnd } from "./session-state.ts";

/** The choices for a session before its team is created or resumed. */
export interface SessionChoice {
  readonly call: AnyCall;
  readonly team: string;
  readonly isResumed: boolean;
}

export interface SessionsOptions {
  readonly call: AnyCall;
  /** The agent works alone, without team tools. */
  readonly isAlone: boolean;
  /** Checks the options of the command for a session, in its directory. @throws TeamError */
  plan(choice: SessionChoice): Promise<LeadPlan>;
  /** Called when a client does not read what it gets. */
  onStalled(): void;
}

/** The request that opens a session. */
interface OpenRequest {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | null;
}

interface OpenHow {
  readonly client: AgentContext;
  readonly abilities: ClientAbilities;
  readonly isResumed: boolean;
  readonly replays: boolean;
}

interface OpenSession {
  readonly session: Session;
  readonly peer: ClientPeer;
  readonly modes: () => SessionModeState;
}

/** The sessions of one client of protocol version 1, each with the lead of its team in this process. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, OpenSession>();
  readonly #opening = new Set<string>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Creates a team. @throws TeamError as `teams run` does */
  async create(request: OpenRequest, client: AgentContext, abilities: ClientAbilities) {
    const sessionId = `acp-${randomBytes(4).toString("hex")}`;
    const open = await this.#begin(sessionId, request, {
      client,
      abilities,
      isResumed: false,
      replays: false,
    });
    return { sessionId, modes: open.modes() };
  }

  /**
   * Resumes a team that no process leads.
   * @param replays the client gets the whole conversation first
   * @throws TeamError TEAM_NOT_FOUND, ALREADY_LEADING, INVALID_INPUT
   */
  async resume(
    request: OpenRequest & { readonly sessionId: string },
    client: AgentContext,
    { abilities, replays }: { readonly abilities: ClientAbilities; readonly replays: boolean },
  ) {
    const open = await this.#begin(request.sessionId, request, {
      client,
      abilities,
      isResumed: true,
      replays,
    });
    return { modes: open.modes() };
  }

  async prompt({ sessionId, prompt }: PromptRequest): Promise<PromptResponse> {
    const text = promptText(prompt);
    const { session } = this.#find(sessionId);
    const end = await session.prompt(text);
    const { input, output, cacheRead, cacheWrite } = session.usage.take();
    const usage = {
      inputTokens: input,
      outputTokens: output,
      cachedReadTokens: cacheRead,
      cachedWriteTokens: cacheWrite,
    };
    return { stopReason: stopReasonOf(end), _meta: { usage } };
  }

  cancel(sessionId: string): void {
    this.#open.get(sessionId)?.session.cancel();
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    const { session, modes } = this.#find(sessionId);
    const mode = modeNamed(modeId);
    const { availableModes } = modes();
    if (mode === undefined || !availableModes.some(({ id }) => id === mode))
      throw new TeamError("INVALID_INPUT", `${JSON.stringify(modeId)} is not a mode of this session.`, {
        hint: `Choose one of: ${availableModes.map(({ id }) => id).join(", ")}`,
      });
    await session.setMode(mode);
  }

  /** Ends the lead and the teammates of a session, and keeps its team. */
  async close(sessionId: string): Promise<void> {
    const { session } = this.#find(sessionId);
    await session.close();
    this.#open.delete(sessionId);
  }

  /** @param reason the signal that ends this process, if there was one */
  async closeAll(reason: unknown): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ session }) => session.close(reason)));
    this.#open.clear();
  }

  #find(sessionId: string): OpenSession {
    const open = this.#open.get(sessionId);
    if (open !== undefined) return open;
    throw new TeamError("TEAM_NOT_FOUND", `The session ${JSON.stringify(sessionId)} is not open here.`, {
      hint: "Open it with session/load or session/resume.",
    });
  }

  async #begin(sessionId: string, request: OpenRequest, how: OpenHow): Promise<OpenSession> {
    if (this.#open.has(sessionId) || this.#opening.has(sessionId))
      throw new TeamError("ALREADY_LEADING", `The session ${sessionId} is open here already.`, {
        hint: "Use it, or close it first with session/close.",
      });
    if (this.#open.size + this.#opening.size >= MAX_SESSIONS)
      throw new TeamError("ALREADY_LEADING", `This process leads ${MAX_SESSIONS} sessions, its maximum.`, {
        hint: "Close a session first, or start another process.",
      });
    this.#opening.add(sessionId);
    try {
      const open = await this.#start(sessionId, request, how);
      this.#open.set(sessionId, open);
      // After the answer, which names the session, was written.
      setImmediate(() => open.peer.opened());
      return open;
    } finally {
      this.#opening.delete(sessionId);
    }
  }

  async #start(
    sessionId: string,
    { cwd, mcpServers }: OpenRequest,
    { client, abilities, isResumed, replays }: OpenHow,
  ): Promise<OpenSession> {
    const { call, isAlone, plan, onStalled } = this.#options;
    const directory = directoryOf(cwd);
    const io = sessionIo(call, directory);
    const own: AnyCall = {
      ...call,
      io,
      out: openOutput(io, QUIET),
      options: { ...call.options, json: false },
    };
    const checked = await plan({ call: own, team: sessionId, isResumed });
    const servers = serversOf(mcpServers ?? []);
    const home = teamsHome(io.env);
    const peer = new ClientPeer(
      {
        ...{ client, sessionId, abilities, onStalled, cwd: directory },
        ref: () => findTeam(home, sessionId),
        ended: () => void this.#open.delete(sessionId),
      },
      replays,
    );
    const session = await Session.open({
      call: own,
      plan: { ...checked, mcpServers: servers },
      peer,
      replays,
    });
    const modes = (): SessionModeState =>
      modesOf(session.mode, { isAlone, isBypassForbidden: session.isBypassForbidden });
    return { session, peer, modes };
  }
}

const QUIET = { json: false, quiet: true, verbose: false };

/** The lead's output goes to the client; stdout belongs to the protocol. */
function sessionIo({ io }: AnyCall, cwd: string): AnyCall["io"] {
  const { env, argv, program } = io;
  const drop = (): void => undefined;
  const captured = capturedIo({ program }, { argv, env, cwd, write: drop, signal: io.interruption() });
  return { ...captured, endedTmux: io.endedTmux, err: io.err };
}

/** @throws TeamError INVALID_INPUT unless it is the absolute path of a directory */
function directoryOf(cwd: string): string {
  if (isAbsolute(cwd) && !cwd.includes("\0") && isDirectory(cwd)) return realPathOf(cwd);
  throw new TeamError("INVALID_INPUT", `${JSON.stringify(cwd)} is not the absolute path of a directory.`, {
    hint: "Open the session in an existing directory.",
  });
}

/** @throws Error if the prompt failed */
function stopReasonOf(end: PromptEnd): PromptResponse["stopReason"] {
  if (end.how === "failed") throw new TeamError("MODEL_ERROR", end.failure);
  return end.how === "done" ? "end_turn" : "cancelled";
}
