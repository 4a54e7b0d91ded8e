// What a screen reader is told without being asked: states and stalls, and never a number that changes.
import { byId } from "./elements.js";

export function announce(text) {
  byId("announcer").textContent = text;
}
