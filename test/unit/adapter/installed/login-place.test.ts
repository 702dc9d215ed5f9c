import { expect, test } from "vitest";
import { loginPlace } from "../../../../src/adapter/installed/login-place.ts";

test.each([
  ["~/.codex", "/home/ada/.codex"],
  ["$CODEX_HOME", "/srv/codex"],
  ["$CODEX_HOME/auth.json", "/srv/codex/auth.json"],
  ["$OTHER/auth.json", undefined],
  ["/etc/codex", "/etc/codex"],
])("loginPlace › finds %s", (path, place) => {
  expect(loginPlace(path, { HOME: "/home/ada", CODEX_HOME: "/srv/codex" })).toBe(place);
});
