import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ConversationMessage } from "../../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../../src/agent/playbook/scripted-model.ts";
import { RECORDING_VARIABLE, withRecording } from "../../../../src/runtime/agent/recording.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const user = (text: string): ConversationMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  origin: { text, from: LEAD_NAME },
});

it("withRecording › records a turn that could not be written, together with the next turn", async () => {
  const ref = await testTeam(["dev"]);
  const cwd = temporaryDirectory();
  const directory = join(cwd, "recording");
  const env = { [RECORDING_VARIABLE]: directory };
  const playbook = { version: 1 as const, agents: { dev: [{ say: "One." }, { say: "Two." }] } };
  const scripted = scriptedModel({ playbook, agent: "dev", cwd, env: {}, speed: 1000 });
  const notes: string[] = [];
  const model = await withRecording(scripted, "dev", { env, cwd, ref }, (text) => void notes.push(text));
  const answerTo = async (messages: readonly ConversationMessage[]): Promise<ConversationMessage> => {
    const { signal } = new AbortController();
    for await (const event of model.stream({ system: "", messages, tools: [] }, signal))
      if (event.type === "message") return event.message;
    throw new Error("The model gave no answer.");
  };
  // A file in place of the directory prevents the recording.
  writeFileSync(directory, "");
  const first = await answerTo([user("a")]);
  expect(notes).toEqual([
    expect.stringMatching(/^the newest turn is not recorded yet; the next turn retries: E/),
  ]);
  rmSync(directory);
  await answerTo([user("a"), first, user("b")]);
  expect(notes).toHaveLength(1);
  const [file = ""] = readdirSync(directory);
  const lines = readFileSync(join(directory, file), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).turn.say)).toEqual(["One.", "Two."]);
});
