import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatRecord } from "../../../../src/adapter/files/chat-record.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

test("ChatRecord › finds the record of a session, even next to an unreadable project", () => {
  const HOME = temporaryDirectory();
  const projects = join(HOME, ".qwen/projects");
  mkdirSync(join(projects, "repo/chats"), { recursive: true });
  writeFileSync(join(projects, "repo/chats/one.jsonl"), "");
  // A link to itself is unreadable even for the superuser.
  symlinkSync("loop", join(projects, "loop"));
  expect(["one", "two"].map((session) => ChatRecord.has({ HOME }, session))).toEqual([true, false]);
});
