// A picture as large as the screen and larger. It follows the stream.
import { byId } from "./elements.js";

const STEP = 1.5;
const LARGEST = 16;

export class Zoom {
  constructor(onChanged) {
    this.onChanged = onChanged;
    this.scale = 0; // pixels of the screen for one of the picture; 0 for as many as fit
    this.dialog = byId("zoom");
    this.image = byId("zoom-image");
    byId("zoom-larger").addEventListener("click", () => this.resize(this.shownScale() * STEP));
    byId("zoom-smaller").addEventListener("click", () => this.resize(this.shownScale() / STEP));
    byId("zoom-fit").addEventListener("click", () => this.resize(0));
    byId("zoom-close").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("close", () => onChanged());
    this.image.addEventListener("load", () => this.layOut());
    addEventListener("resize", () => this.layOut());
  }

  get isOpen() {
    return this.dialog.open;
  }

  open(name, image) {
    this.name = name;
    byId("zoom-heading").textContent = name;
    this.put(image);
    this.dialog.showModal();
    this.resize(0);
    this.onChanged();
  }

  update(name, image) {
    if (this.isOpen && name === this.name) this.put(image);
  }

  put({ src, alt, className }) {
    const before = this.image.naturalWidth;
    const isFree = this.scale > 0;
    this.image.src = src;
    this.image.alt = alt;
    this.image.className = className;
    // the same picture may come in another size: what is seen stays as large
    if (isFree) this.image.addEventListener("load", () => this.resize((this.scale * before) / this.image.naturalWidth), { once: true });
  }

  fitting() {
    const room = byId("zoom-room");
    return Math.min(room.clientWidth / this.image.naturalWidth, room.clientHeight / this.image.naturalHeight);
  }

  shownScale() {
    return this.scale || this.fitting();
  }

  resize(scale) {
    this.scale = scale && Math.min(LARGEST, Math.max(0.05, scale));
    this.layOut();
  }

  layOut() {
    if (!this.isOpen || !this.image.naturalWidth) return;
    this.image.style.width = `${Math.floor(this.image.naturalWidth * this.shownScale())}px`;
  }
}
