import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContentBlock, InitializeRequest } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { fileTeam } from "../../support/acp/file-team.ts";
import { playedSession } from "../../support/acp/played-session.ts";
import { readTranscript } from "../../support/acp/transcript.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly clientCapabilities?: InitializeRequest["clientCapabilities"];
    readonly prompt?: ContentBlock[];
    readonly update?: Update;
  };
  readonly result?: object;
}

interface Update {
  readonly sessionUpdate: string;
}

/** Returns the messages of the last command of acpx in its transcript, in both directions. */
function recordedMessages(): readonly Message[] {
  const lines = readTranscript("acpx.txt");
  const last = lines.lastIndexOf("$ acpx --format json exec");
  return lines.slice(last).flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Message] : []));
}

function updatesIn(messages: readonly Message[]): readonly Update[] {
  return messages.flatMap(({ params }) => params?.update ?? []);
}

/** Returns the fields of each kind of update. */
function fieldsByKind(updates: readonly Update[]): Readonly<Record<string, readonly string[]>> {
  const fields = new Map<string, ReadonlySet<string>>();
  for (const update of updates)
    fields.set(
      update.sessionUpdate,
      new Set([...(fields.get(update.sessionUpdate) ?? []), ...Object.keys(update)]),
    );
  return Object.fromEntries([...fields].map(([kind, names]) => [kind, [...names].sort()]));
}

it("teams acp › answers the requests of acpx as in its transcript", async () => {
  const recorded = recordedMessages();
  const sent = (method: string): Message => recorded.find((one) => one.method === method) ?? {};
  const { id, params } = sent("session/prompt");
  const { t, c, sessionId } = await playedSession(fileTeam, {
    words: ["--teammate-mode", "tmux"],
    capabilities: sent("initialize").params?.clientCapabilities,
  });
  // An earlier command of the transcript made the file: ada's Write fails without a request, as she has not read it.
  writeFileSync(join(t.home, "made.txt"), "made\n");
  const answer = await c.agent.request("session/prompt", { sessionId, prompt: params?.prompt ?? [] });
  expect(answer).toEqual(recorded.find((one) => one.id === id && one.result !== undefined)?.result);
  const got = c.traffic.flatMap((line) =>
    line.startsWith("←") ? [JSON.parse(line.slice(2)) as Message] : [],
  );
  expect(updatesIn(recorded).length).toBeGreaterThan(20);
  expect(fieldsByKind(updatesIn(got))).toEqual(fieldsByKind(updatesIn(recorded)));
});
