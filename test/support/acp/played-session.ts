import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InitializeRequest } from "@agentclientprotocol/sdk";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { type AcpClient, acpClient } from "./acp-client.ts";

export const uses = (name: string, input: object) => ({ name, input });

/** A turn of a playbook. */
export interface PlayedTurn {
  readonly on?: object;
  readonly say?: string;
  readonly tools?: readonly object[];
  readonly usage?: object;
  readonly error?: object;
}

type Cast = (home: string) => Readonly<Record<string, readonly PlayedTurn[]>>;

interface PlayedOptions {
  readonly words?: readonly string[];
  readonly capabilities?: InitializeRequest["clientCapabilities"];
}

/** A client with a new session, whose team follows a playbook. */
export interface PlayedSession {
  readonly t: PrivateTmux;
  readonly c: AcpClient;
  readonly sessionId: string;
  /** Starts another process of `teams acp` for the same teams. */
  again(): Promise<AcpClient>;
}

/** Starts `teams acp` with a playbook, and opens a session. */
export async function playedSession(
  cast: Cast,
  { words = [], capabilities }: PlayedOptions = {},
): Promise<PlayedSession> {
  const t = privateTmux();
  const file = join(t.home, "play.json");
  writeFileSync(file, JSON.stringify({ version: 1, agents: cast(t.home) }));
  const again = (): Promise<AcpClient> =>
    acpClient({
      ...{ env: t.env, cwd: t.home, words: ["--playbook", file, ...words] },
      ...(capabilities === undefined ? {} : { capabilities }),
    });
  const c = await again();
  const { sessionId } = await c.agent.request("session/new", { cwd: t.home, mcpServers: [] });
  return { t, c, sessionId, again };
}

/** Builds a tool call that creates the file `begun`, then runs until the other file exists. */
export function waitsFor(begun: string, file: string) {
  return uses("Bash", { command: `touch ${begun}; until [ -e ${file} ]; do sleep 0.1; done` });
}
