// Symbols on the map.

// Leaders are diamonds, workers discs, coordinators triangles.
export function shape(c: CanvasRenderingContext2D, role: string, x: number, y: number, size: number): void {
  if (role === 'worker') c.arc(x, y, size, 0, 2 * Math.PI);
  else if (role === 'leader') {
    c.moveTo(x, y - size);
    c.lineTo(x + size, y);
    c.lineTo(x, y + size);
    c.lineTo(x - size, y);
    c.closePath();
  } else {
    c.moveTo(x, y - size * 1.1);
    c.lineTo(x + size * 1.1, y + size * 0.9);
    c.lineTo(x - size * 1.1, y + size * 0.9);
    c.closePath();
  }
}

// Of a recharging station.
export function flash(c: CanvasRenderingContext2D, x: number, y: number): void {
  c.beginPath();
  c.moveTo(x + 2, y - 6);
  c.lineTo(x - 4, y + 1);
  c.lineTo(x, y + 1);
  c.lineTo(x - 2, y + 6);
  c.lineTo(x + 4, y - 1);
  c.lineTo(x, y - 1);
  c.closePath();
  c.fill();
}

// An access point: a mast with waves.
export function mast(c: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  c.beginPath();
  c.moveTo(x - 6 * size, y + 9 * size);
  c.lineTo(x, y - 5 * size);
  c.lineTo(x + 6 * size, y + 9 * size);
  for (const r of [5, 9]) {
    c.moveTo(x + r * size * Math.cos(-0.7), y - 5 * size + r * size * Math.sin(-0.7));
    c.arc(x, y - 5 * size, r * size, -0.7, 0.7);
    c.moveTo(x + r * size * Math.cos(Math.PI - 0.7), y - 5 * size + r * size * Math.sin(Math.PI - 0.7));
    c.arc(x, y - 5 * size, r * size, Math.PI - 0.7, Math.PI + 0.7);
  }
  c.stroke();
}
