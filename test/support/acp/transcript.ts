import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PrivateTmux } from "../tmux/private-tmux.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/acp", import.meta.url));

/** Reads the lines of a recorded transcript: `→` to the agent, `←` from it. */
export function readTranscript(name: string): readonly string[] {
  return readFileSync(join(FIXTURES, name), "utf8").split("\n").filter(Boolean);
}

/** Returns the distinct methods and kinds of updates of a transcript, sorted. */
export function kindsOf(lines: readonly string[]): readonly string[] {
  const kinds = lines.flatMap((line) => {
    const { method, params } = JSON.parse(line.slice(2)) as {
      readonly method?: string;
      readonly params?: { readonly update?: { readonly sessionUpdate: string } };
    };
    return method === undefined ? [] : [`${line.slice(0, 1)} ${params?.update?.sessionUpdate ?? method}`];
  });
  return [...new Set(kinds)].sort();
}

/** Writes the traffic of a session as a fixture, without the paths of this machine, if `ACP_RECORD=1` is set. */
export function recordTranscript(name: string, traffic: readonly string[], { home, env }: PrivateTmux): void {
  if (process.env.ACP_RECORD !== "1") return;
  const text = traffic
    .join("\n")
    .replaceAll(home, "<home>")
    .replaceAll(env.TEAMS_TMUX_SOCKET ?? "", "<socket>");
  mkdirSync(FIXTURES, { recursive: true });
  writeFileSync(join(FIXTURES, name), `${text}\n`);
}
